-- Parts written before 087 have no index of wallets until they are merged: the store makes it in the background, part by part.
ALTER TABLE trades MATERIALIZE INDEX trader_index;
