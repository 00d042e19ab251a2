import type { Platform } from '../core/model.ts';
import { kalshi } from './kalshi/manifest.ts';
import { limitless } from './limitless/manifest.ts';
import type { PlatformManifest } from './manifest.ts';
import { polymarket } from './polymarket/manifest.ts';

/** The manifest of every platform; a platform added to PLATFORMS does not compile until it is here. */
export const MANIFESTS: Readonly<Record<Platform, PlatformManifest>> = { kalshi, polymarket, limitless };
