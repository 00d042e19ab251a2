import { startTestApp } from '../helpers/app.ts';
import { type Description, type Endpoints, endpointsOf } from './hostile.ts';

/** The data endpoints as a service of its own describes them. */
export async function describedEndpoints(): Promise<Endpoints> {
  const { app, close } = await startTestApp();
  try {
    return endpointsOf((await app.inject('/v1/api/openapi.json')).json<Description>());
  } finally {
    await close();
  }
}
