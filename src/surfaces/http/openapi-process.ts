import { writeFileSync } from 'node:fs'
import { openApiTextOf } from './openapi.ts'
import { ROUTES } from './routes/all.ts'

/** Run by the build, with the version and the file to write: no service has to make the document again. */
const [version = '', file = ''] = process.argv.slice(2)
writeFileSync(file, await openApiTextOf(ROUTES, version))
