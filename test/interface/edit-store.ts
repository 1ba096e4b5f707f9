import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { Client } from 'pg'
import type { Variables } from './service.ts'

/** Changes a store by hand in ways the service never would. */
export const editStore = async (home: string, variables: Variables, sql: string): Promise<void> => {
  const url = variables['SVC_STORE__URL']
  if (url === undefined) {
    const database = new DatabaseSync(join(home, 'data', 'events.db'))
    database.exec(`DROP TRIGGER events_no_update; DROP TRIGGER events_no_delete; ${sql}`)
    database.close()
    return
  }
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(`DROP TRIGGER events_append_only ON events; ${sql}`)
  await client.end()
}

/** Reads a store as a database tool does. */
export const readStore = async (
  home: string,
  variables: Variables,
  sql: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> => {
  const url = variables['SVC_STORE__URL']
  if (url === undefined) {
    const database = new DatabaseSync(join(home, 'data', 'events.db'), { readOnly: true })
    const rows = database.prepare(sql).all() as readonly Readonly<Record<string, unknown>>[]
    database.close()
    return rows
  }
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<Record<string, unknown>>(sql)
  await client.end()
  return rows
}
