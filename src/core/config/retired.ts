import type { JsonObject } from '../shared/json.ts'
import { isJsonObject } from '../shared/json-object.ts'

/** Groups of keys that older versions knew. They are ignored with a warning: an update must not keep a service from starting. */
const RETIRED: readonly (readonly [section: string, group: string])[] = [
  ['brain', 'link'],
  ['karma', 'trust'],
]

export interface WithoutRetired {
  readonly values: JsonObject
  /** Dotted names of the ignored groups, such as `karma.trust`. */
  readonly retired: readonly string[]
}

export const withoutRetired = (values: JsonObject): WithoutRetired => {
  const retired: string[] = []
  let kept = values
  for (const [section, group] of RETIRED) {
    const { [section]: found, ...others } = kept
    if (!isJsonObject(found) || !Object.hasOwn(found, group)) continue
    const { [group]: _ignored, ...rest } = found
    kept = { ...others, [section]: rest }
    retired.push(`${section}.${group}`)
  }
  return { values: kept, retired }
}
