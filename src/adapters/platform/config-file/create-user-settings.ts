import type { JsonObject } from '../../../core/shared/json.ts'
import { userSettingsPath } from './sources.ts'
import { userSettingsText } from './user-settings-text.ts'
import { createFile } from './write-file.ts'

export interface CreatedUserSettings {
  readonly status: 'created' | 'exists'
  readonly path: string
}

/** `config/user.yaml` of a first run. One of several processes creates it; a file that exists stays as it is. */
export const createUserSettings = async (home: string, values: JsonObject): Promise<CreatedUserSettings> => {
  const path = userSettingsPath(home)
  return { status: await createFile(path, userSettingsText(null, values)), path }
}
