import type { JsonObject } from '../../core/shared/json.ts'
import type { CreatedIdentity, Workshop } from './workshop.ts'

export interface PreparedHome {
  /** What was not there before, relative to the home. */
  readonly created: readonly string[]
  readonly configPath: string
  readonly nodeId: string
}

export interface HomeWishes {
  /** For a new `config/user.yaml`, besides its random token. */
  readonly settings: JsonObject
  /** Without a password, save the key in plain text. */
  readonly development: boolean
}

/** As it is named to people, relative to the home. */
export const USER_SETTINGS = 'config/user.yaml'

/** Makes what is missing of a home; what is there stays as it is. */
export const prepareHome = async (
  workshop: Workshop,
  { settings, development }: HomeWishes,
): Promise<PreparedHome> => {
  const folders = await workshop.createFolders()
  const file = await workshop.configuration.createUserSettings({
    ...settings,
    api: { auth_token: workshop.newToken() },
  })
  const identity = await workshop.identity.create({ development })
  const { path: configPath } = await workshop.configuration.describe()
  return {
    created: [...folders, ...(file.status === 'created' ? [USER_SETTINGS] : []), ...createdFile(identity)],
    configPath,
    nodeId: identity.nodeId,
  }
}

const createdFile = ({ status, path }: CreatedIdentity): readonly string[] =>
  status === 'created' ? [path] : []
