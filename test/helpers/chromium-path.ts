import { existsSync } from 'node:fs';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Where a Chromium is installed; undefined where there is none, and then the pages are not tested in a browser. */
export const CHROMIUM = PATHS.find((path) => existsSync(path));
