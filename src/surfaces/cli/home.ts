import type { JsonObject } from '../../core/shared/json.ts'
import type { CreatedIdentity, CommandDependencies } from './dependencies.ts'

export interface PreparedHome {
  /** What was not there before, relative to the home. */
  readonly created: readonly string[]
  readonly configPath: string
  readonly nodeId: string
}

export interface HomeOptions {
  /** For a new `config/user.yaml`, besides its random token. */
  readonly settings: JsonObject
  /** Without a password, save the key in plain text. */
  readonly development: boolean
}

/** As it is named to people, relative to the home. */
export const USER_SETTINGS = 'config/user.yaml'

/** Makes what is missing of a home; what is there stays as it is. */
export const prepareHome = async (
  dependencies: CommandDependencies,
  { settings, development }: HomeOptions,
): Promise<PreparedHome> => {
  const folders = await dependencies.createFolders()
  const file = await dependencies.configuration.createUserSettings({
    ...settings,
    api: { auth_token: dependencies.newToken() },
  })
  const identity = await dependencies.identity.create({ development })
  const { path: configPath } = await dependencies.configuration.describe()
  return {
    created: [...folders, ...(file.status === 'created' ? [USER_SETTINGS] : []), ...createdFile(identity)],
    configPath,
    nodeId: identity.nodeId,
  }
}

const createdFile = ({ status, path }: CreatedIdentity): readonly string[] =>
  status === 'created' ? [path] : []
