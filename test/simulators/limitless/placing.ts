import type { Call } from './auth.ts';
import { readOrder } from './intake.ts';
import type { MemberOrder } from './orders.ts';
import { isObject } from './wire.ts';

/** POST /orders as far as maintenance lets it: checked, placed, and executed as far as the book goes. */
export async function createOrder({ world, profile }: Call, body: unknown): Promise<MemberOrder> {
  world.maintenance.refuseCreate(isObject(body) && body['postOnly'] === true);
  return world.desk.place(await readOrder(world, profile, body));
}
