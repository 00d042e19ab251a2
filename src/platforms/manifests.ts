import type { Platform } from '../core/model.ts';
import { kalshi } from './kalshi/manifest.ts';
import { limitless } from './limitless/manifest.ts';
import type { PlatformManifest } from './manifest.ts';
import { polymarket } from './polymarket/manifest.ts';

/** The manifest of every platform; the code does not compile if one of PLATFORMS is missing. */
export const MANIFESTS: Readonly<Record<Platform, PlatformManifest>> = { kalshi, polymarket, limitless };
