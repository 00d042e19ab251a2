-- Builds before 1.0 took the payout of a settled market for a sample of its price. What else is in these bars is read again when it is asked for.
ALTER TABLE platform_candles DELETE WHERE source = 'midpoint' AND (low = 0 OR high = 1);
