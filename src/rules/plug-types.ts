/** Derives the types of nodes from the declarations of plugs. */
import type { DefinedPlug, InputField, OutputField } from '#core'
import type { Value } from './value.ts'

/** Such as `250ms`, `30s`, `5m`, `2h`, `1d`, `2w`, or ISO 8601 such as `PT5M`. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h' | 'd' | 'w'}` | `P${string}`

type Field = InputField
type Fields = Readonly<Record<string, Field>>

/** What a rule may write for a property. */
export type Written<F extends Field> = F extends {
  format: { type: 'enum'; values: readonly (infer V extends string)[] }
}
  ? V | Value<V>
  : F extends { format: { type: 'duration' } }
    ? Duration | Value<string>
    : F extends { format: { type: 'code' | 'logic' } }
      ? string | number | boolean | Readonly<Record<string, unknown>> | Value<unknown>
      : F['type'] extends 'string'
        ? string | Value<string | number | boolean>
        : F['type'] extends 'integer' | 'long' | 'float' | 'double'
          ? number | Value<number>
          : F['type'] extends 'boolean'
            ? boolean | Value<boolean>
            : F['type'] extends 'array'
              ? readonly unknown[] | Value<readonly unknown[]>
              : F['type'] extends 'object'
                ? Readonly<Record<string, unknown>> | Value<object>
                : unknown

type Required<Input extends Fields> = {
  [K in keyof Input]: Input[K] extends { mandatory: true } ? K : never
}[keyof Input]

/** The properties of a node. A plug without declared properties has none. */
export type Properties<Input extends Fields> = string extends keyof Input
  ? { readonly [name in string]?: never }
  : { readonly [K in Required<Input>]: Written<Input[K]> } & {
      readonly [K in Exclude<keyof Input, Required<Input>>]?: Written<Input[K]>
    }

type Read<F extends OutputField> = F['type'] extends 'string'
  ? string
  : F['type'] extends 'integer' | 'long' | 'float' | 'double'
    ? number
    : F['type'] extends 'boolean'
      ? boolean
      : F['type'] extends 'array'
        ? readonly unknown[]
        : F['type'] extends 'object'
          ? Readonly<Record<string, unknown>>
          : never

/** The raw data of a node, by name. */
export type RawData<
  Output extends Readonly<Record<string, OutputField>>,
  Open extends boolean,
> = (string extends keyof Output ? unknown : { readonly [K in keyof Output]: Value<Read<Output[K]>> }) &
  ([Open] extends [true] ? Readonly<Record<string, Value<never>>> : unknown)

/** The names of the plugs of a kind. */
export type Names<P extends DefinedPlug, Kind extends DefinedPlug['kind']> = Extract<P, { readonly kind: Kind }>['name']

/** The plug of a kind and name. */
export type Named<P extends DefinedPlug, Kind extends DefinedPlug['kind'], Name> = Extract<
  P,
  { readonly kind: Kind; readonly name: Name }
>
