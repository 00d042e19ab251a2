-- Old attempts are dropped every hour, the oldest first, by age over all users and by number for each (order_attempts_user).
CREATE INDEX order_attempts_at ON order_attempts (at);
