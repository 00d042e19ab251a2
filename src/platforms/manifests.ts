import type { z } from 'zod';
import type { Platform } from '../core/model.ts';
import { kalshi } from './kalshi/manifest.ts';
import { limitless } from './limitless/manifest.ts';
import type { PlatformManifest } from './manifest.ts';
import { polymarket } from './polymarket/manifest.ts';

const manifests = { kalshi, polymarket, limitless };

/** The manifest of every platform; the code does not compile if one of PLATFORMS is missing. */
export const MANIFESTS: Readonly<Record<Platform, PlatformManifest>> = manifests;

/** Name of a limit group: the platform, then what the platform counts together. */
export type LimitGroupName = { [P in Platform]: keyof (typeof manifests)[P]['limits'] }[Platform];

/** The fields of a platform's credential after validation, as stored. */
export type CredentialOf<P extends Platform> = z.output<(typeof manifests)[P]['credential']>;

/** The fields of a platform's credential, with their exact type. */
export const credentialFields = <P extends Platform>(platform: P) => manifests[platform].credential;
