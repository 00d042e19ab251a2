import { getAddress } from 'viem';
import type { SimClient, SimSocketRoute } from '../../lib/index.ts';
import type { OutcomeIndex, SimTrade, SimWallet, WireSide } from '../world/model.ts';
import { priceNumber, sizeNumber } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';

interface Part {
  wallet: SimWallet;
  outcome: OutcomeIndex;
  side: WireSide;
  price: bigint;
  size: bigint;
}

/** The live-data socket: the topic activity of the whole platform. It answers no PING with JSON, and has no replay. */
export function activitySocket(world: PolymarketWorld): SimSocketRoute {
  const wanted = new Map<SimClient, Set<string>>();
  world.watchers.trade.add((trade) => {
    for (const [client, types] of wanted) {
      if (types.has('orders_matched') || types.has('*')) client.send(frameOf('orders_matched', trade, trade));
      if (!types.has('trades') && !types.has('*')) continue;
      // Makers first as often as last.
      const parts: Part[] = trade.index % 2 === 0 ? [trade, ...trade.fills] : [...trade.fills, trade];
      for (const part of parts) client.send(frameOf('trades', trade, part));
    }
  });
  return {
    connected: (client) => client.send(''),
    closed: (client) => void wanted.delete(client),
    message(client, text) {
      if (text === 'PING') return client.send('');
      const message = JSON.parse(text) as { action?: string; subscriptions?: { topic: string; type: string }[] };
      // Without an action: silence.
      if (message.action !== 'subscribe') return;
      const asked = message.subscriptions ?? [];
      const unknown = asked.find(({ topic }) => topic !== 'activity');
      if (unknown) {
        const reason = `leger GetTopics error: topic ${unknown.topic} not found`;
        client.send({ body: { message: reason }, connectionId: 'x', statusCode: 401 });
      } else wanted.set(client, new Set(asked.map(({ type }) => type)));
    },
  };
}

/** A trade whose outcome the platform has not labelled yet carries 999. */
const isLabelled = ({ index }: SimTrade): boolean => index % 5 !== 0;
const walletRow = ({ name, pseudonym, bio, profileImage }: SimWallet) => ({ name, pseudonym, bio, profileImage });

function frameOf(type: string, trade: SimTrade, part: Part) {
  const { market, transactionHash, timestamp } = trade;
  return {
    connection_id: 'gbeUfq-crWeIKABx0A==',
    payload: {
      asset: market.tokenIds[part.outcome],
      conditionId: market.conditionId,
      slug: market.slug,
      eventSlug: market.event.slug,
      title: market.question,
      icon: '',
      outcome: isLabelled(trade) ? market.outcomes[part.outcome] : '',
      outcomeIndex: isLabelled(trade) ? part.outcome : 999,
      proxyWallet: getAddress(part.wallet.address),
      ...walletRow(part.wallet),
      side: part.side,
      size: sizeNumber(part.size),
      // Occasionally a text.
      price: trade.index % 7 === 0 ? String(priceNumber(part.price)) : priceNumber(part.price),
      timestamp: timestamp - 1,
      transactionHash,
    },
    timestamp: timestamp * 1000,
    topic: 'activity',
    type,
  };
}
