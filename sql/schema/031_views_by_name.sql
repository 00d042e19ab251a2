-- From here on each view is defined by the file of its name in `views` alone. Earlier releases, which define views in numbered files too,
-- would replace newer ones: this number makes them refuse the store.
ALTER TABLE schema_views MODIFY COMMENT 'The views that are defined, each by the file of its name';
