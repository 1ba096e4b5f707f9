import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import { sendText } from './responses.ts'

export interface BuiltPages {
  /** The app, for signed-in users. */
  readonly app: string
  readonly signIn: string
  /** Page that verifies proofs without the service. Public. Null if the build lacks it. */
  readonly verify: StandalonePage | null
  /** All other files by path. All are public. */
  readonly assets: ReadonlyMap<string, Asset>
}

/** A page with inline script and style, and the policy that allows only these. */
interface StandalonePage {
  readonly html: string
  readonly policy: string
}

interface Asset {
  readonly contentType: string
  readonly isHashed: boolean
  readonly plain: Buffer
  readonly brotli: Buffer | null
  readonly gzip: Buffer | null
}

/** Reads the built pages into memory. Null if they are not built. */
export const loadPages = (folder: string): BuiltPages | null => {
  const files = filesIn(folder)
  if (!files.includes('index.html') || !files.includes('sign-in.html')) return null
  const read = (name: string): Buffer => readFileSync(join(folder, name))
  const optional = (name: string): Buffer | null => (files.includes(name) ? read(name) : null)
  const assets = files.flatMap((name): [string, Asset][] => {
    const contentType = CONTENT_TYPES[extname(name)]
    if (contentType === undefined) return []
    const isHashed = name.startsWith('assets/')
    const asset = { contentType, isHashed, plain: read(name) }
    return [[`/${name}`, { ...asset, brotli: optional(`${name}.br`), gzip: optional(`${name}.gz`) }]]
  })
  return {
    app: read('index.html').toString('utf8'),
    signIn: read('sign-in.html').toString('utf8'),
    verify: files.includes('verify.html') ? standalone(read('verify.html').toString('utf8')) : null,
    assets: new Map(assets),
  }
}

export const sendStandalone = (response: ServerResponse, { html, policy }: StandalonePage): void =>
  sendText(response, 200, 'text/html; charset=utf-8', html, { 'Content-Security-Policy': policy })

const standalone = (html: string): StandalonePage => {
  const allowed = (tag: 'script' | 'style'): string =>
    [...html.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs'))]
      .map(([, content = '']) => `'sha256-${hash('sha256', content, 'base64')}'`)
      .join(' ')
  const policy = [
    "default-src 'none'",
    `script-src ${allowed('script')}`,
    `style-src ${allowed('style')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
  return { html, policy }
}

/** Files with a hash in their name are cached forever. */
export const sendAsset = (request: IncomingMessage, response: ServerResponse, asset: Asset): void => {
  const accepted = request.headers['accept-encoding'] ?? ''
  const [encoding, body] = encodedFor(accepted, asset)
  sendText(response, 200, asset.contentType, body, {
    'Cache-Control': asset.isHashed ? 'public, max-age=31536000, immutable' : 'public, max-age=3600',
    Vary: 'Accept-Encoding',
    ...(encoding === null ? {} : { 'Content-Encoding': encoding }),
  })
}

interface SignInPageOptions {
  /** Error shown to the user. */
  readonly error: string | null
  /** Path of the dashboard to open after the sign-in. */
  readonly next: string
}

export const signInPage = ({ signIn }: BuiltPages, { error, next }: SignInPageOptions): string =>
  signIn
    .replace('<!--error-->', () => (error === null ? '' : `<p id="error" role="alert">${escaped(error)}</p>`))
    .replace('value="/"', () => `value="${escaped(next)}"`)

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}

const encodedFor = (accepted: string, asset: Asset): readonly ['br' | 'gzip' | null, Buffer] => {
  if (asset.brotli !== null && /\bbr\b/.test(accepted)) return ['br', asset.brotli]
  if (asset.gzip !== null && /\bgzip\b/.test(accepted)) return ['gzip', asset.gzip]
  return [null, asset.plain]
}

const filesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) =>
      name.replaceAll('\\', '/'),
    )
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
