-- Lists by the volume of a day or week have places 1 to 1000000 for unknown volumes: the larger the volume in all, in steps of ten of the
-- platform's unit, the smaller the place. All markets are copied again at the next start.
UPDATE present_platforms SET copied_to = NULL, former_from = version;
