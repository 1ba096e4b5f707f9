/** Reads secrets from the environment, then from the vault. Throws SecretMissingError if neither has the secret. */
export interface Secrets {
  get(name: string): Promise<string>
}

export class SecretMissingError extends Error {
  override readonly name = 'SecretMissingError'
}
