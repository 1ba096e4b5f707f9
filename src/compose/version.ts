import manifest from '../../package.json' with { type: 'json' }

/** The release this code belongs to. The bundle holds it as text. */
export const VERSION = manifest.version
