import './word.ts';
import { z } from 'zod';
import { settings } from '../../../src/core/settings.ts';
import { MANIFESTS } from '../../../src/platforms/manifests.ts';
import { ADAPTERS } from '../../../src/platforms/registry.ts';
import { createFourthData } from './platform/data.ts';
import { fourth } from './platform/manifest.ts';

// The lines that a new platform adds to the registries; no order adapter, so that orders are refused.
Object.assign(settings, { FOURTH_API_URL: [z.url().default('https://fourth.example'), 'base URL of Fourth'] });
Object.assign(MANIFESTS, { fourth });
Object.assign(ADAPTERS, { fourth: { data: createFourthData } });

/** The row of the table `platforms` that a migration would add. */
export const PLATFORM_ROW = `INSERT INTO platforms (platform, volume_basis, has_pools) VALUES ('fourth', 'usd', false)`;
