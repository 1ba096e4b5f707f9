/** Names of strategies and of the user's producers. They are also file names, valid on every system. */
export const STRATEGY_NAME = /^[a-z][a-z0-9_-]{0,63}$/

export const STRATEGY_NAME_RULE =
  'must begin with a lower-case letter and hold only lower-case letters, digits, underscores and hyphens, at most 64'
