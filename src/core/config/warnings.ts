import type { Configuration } from './schema.ts'

const TOKEN_LENGTH_RECOMMENDED = 32

/** What is allowed but unwise. */
export const warningsOf = ({ api }: Configuration): readonly string[] =>
  [['api.auth_token', api.auth_token] as const, ['api.operator_token', api.operator_token] as const].flatMap(
    ([key, token]) =>
      token !== '' && token.length < TOKEN_LENGTH_RECOMMENDED
        ? [`${key} is shorter than ${TOKEN_LENGTH_RECOMMENDED} characters`]
        : [],
  )
