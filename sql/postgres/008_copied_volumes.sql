-- States have volumes of a month and a year now: all markets are copied again at the next start.
UPDATE present_platforms SET copied_to = NULL;
