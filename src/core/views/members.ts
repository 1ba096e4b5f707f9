import { z } from 'zod'

/** Kinds of members that many views have. */
export const numberOrNull = z.number().nullable()
export const textOrNull = z.string().nullable()
export const count = z.int().min(0)
export const share = z.number().min(0).max(1)

type Camel<Name> = Name extends `${infer Head}_${infer Rest}` ? `${Head}${Capitalize<Camel<Rest>>}` : Name

type Shown<Member> = Member extends readonly (infer Item)[] ? readonly Item[] : Member

type Nullable<View> = { [Member in keyof View]: null extends View[Member] ? Member : never }[keyof View]

/** Payload with the members of a view, under the names of the wire. Nullable members may also be missing. */
type PayloadOfView<View> = {
  readonly [Member in Exclude<keyof View, Nullable<View>>]: Shown<View[Member]>
} & {
  readonly [Member in Nullable<View>]?: Shown<View[Member]> | undefined
}

/**
 * Facts with the members of a view, under the names that core uses (`size_pct` is `sizePct`). No member may be missing,
 * but nullable ones may be undefined.
 */
type Facts<View> = {
  readonly [Member in keyof View as Camel<Member>]:
    | Shown<View[Member]>
    | (null extends View[Member] ? undefined : never)
}

/** Shows each member of the view from the payload member of the same name, and no other member. */
export const picked = <View extends z.ZodObject>(
  view: View,
): ((from: PayloadOfView<z.infer<View>>) => z.infer<View>) => pick(view, (name) => name)

/** Shows each member of the view from the fact of the same name in camel case, and no other fact. */
export const shown = <View extends z.ZodObject>(
  view: View,
): ((from: Facts<z.infer<View>>) => z.infer<View>) =>
  pick(view, (name) => name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()))

const pick = <View extends z.ZodObject>(view: View, sourceOf: (name: string) => string) => {
  const members = Object.keys(view.shape).map((name) => [name, sourceOf(name)] as const)
  return (from: object): z.infer<View> => {
    const values = from as Readonly<Record<string, unknown>>
    return Object.fromEntries(
      members.map(([name, source]) => [name, values[source] ?? null]),
    ) as z.infer<View>
  }
}

interface Identified {
  readonly id: string
}

/** Compares by time, and by id where times are equal. */
export const oldestFirst =
  <Item extends Identified>(timeOf: (item: Item) => string) =>
  (one: Item, other: Item): number =>
    compared(timeOf(one), timeOf(other)) || compared(one.id, other.id)

export const newestFirst =
  <Item extends Identified>(timeOf: (item: Item) => string) =>
  (one: Item, other: Item): number =>
    oldestFirst(timeOf)(other, one)

const compared = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1)
