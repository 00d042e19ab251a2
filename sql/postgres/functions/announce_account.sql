-- A change of a key, or of its user's limits, announces its id to every process that keeps keys in memory.
CREATE OR REPLACE FUNCTION announce_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('accounts', OLD.id::text);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER announce_key AFTER UPDATE OF user_id, scopes, expires_at, allowed_addresses, revoked_at OR DELETE ON api_keys
  FOR EACH ROW EXECUTE FUNCTION announce_account();
CREATE OR REPLACE TRIGGER announce_user AFTER UPDATE OF tier, requests_per_minute OR DELETE ON users
  FOR EACH ROW EXECUTE FUNCTION announce_account();
