import './word.ts';
import { z } from 'zod';
import { settings } from '../../../src/core/settings.ts';
import { CredentialFields } from '../../../src/platforms/credentials.ts';
import { LIMIT_GROUPS } from '../../../src/platforms/http/limit-groups.ts';
import { MANIFESTS } from '../../../src/platforms/manifests.ts';
import { DATA_ADAPTERS } from '../../../src/platforms/registry.ts';
import { FourthFields } from './platform/credential.ts';
import { createFourthData } from './platform/data.ts';
import { fourthLimits } from './platform/limits.ts';
import { fourth } from './platform/manifest.ts';

// The lines that a new platform adds to the registries; no order adapter, so that orders are refused.
Object.assign(settings, { FOURTH_API_URL: [z.url().default('https://fourth.example'), 'base URL of Fourth'] });
Object.assign(MANIFESTS, { fourth });
Object.assign(DATA_ADAPTERS, { fourth: createFourthData });
Object.assign(CredentialFields, { fourth: FourthFields });
Object.assign(LIMIT_GROUPS, fourthLimits);

/** The row of the table `platforms` that a migration would add. */
export const PLATFORM_ROW = `INSERT INTO platforms (platform, volume_basis, has_pools) VALUES ('fourth', 'usd', false)`;
