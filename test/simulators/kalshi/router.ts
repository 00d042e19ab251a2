import type { Route } from './call.ts';

export interface RouteMatch {
  route: Route;
  params: string[];
}

const variables = (route: Route): number => route.path.split('{}').length;

/** Finds the route of a path (without the base); a literal part wins over a variable one. */
export function createRouter(routes: readonly Route[]): (method: string, path: string) => RouteMatch | null {
  const compiled = routes
    .toSorted((a, b) => variables(a) - variables(b))
    .map((route) => ({ route, pattern: new RegExp(`^${route.path.replaceAll('{}', '([^/]+)')}$`) }));
  return (method, path) => {
    for (const { route, pattern } of compiled) {
      const match = route.method === method ? pattern.exec(path) : null;
      if (match) return { route, params: match.slice(1).map((part) => decodeURIComponent(part)) };
    }
    return null;
  };
}
