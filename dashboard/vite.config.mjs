import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const COMPRESSED = /\.(js|css|svg)$/

/** Compressed once here, so that the server never has to. */
const compressed = () => ({
  name: 'compressed',
  apply: 'build',
  writeBundle: ({ dir }) => {
    for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
      if (!COMPRESSED.test(name)) continue
      const file = join(dir, name)
      const content = readFileSync(file)
      writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }))
      const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }
      writeFileSync(`${file}.br`, brotliCompressSync(content, { params }))
    }
  },
})

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss(), compressed()],
  build: {
    // The policy of the page allows no inline script, style or module preload helper that fetches elsewhere.
    assetsInlineLimit: 0,
    emptyOutDir: true,
    rolldownOptions: { input: ['index.html', 'sign-in.html'].map((name) => join(import.meta.dirname, name)) },
  },
  // `npx vite dashboard` beside a running service: everything but the pages comes from there.
  server: {
    proxy: Object.fromEntries(
      ['/api', '/login', '/logout', '/session'].map((path) => [path, 'http://127.0.0.1:5051']),
    ),
  },
})
