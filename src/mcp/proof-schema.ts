/** Schema of a proof: values that metrics may have, and properties as data. */
import { Type } from 'typebox'
import { CHECKED, closed, type Decoded } from '#services/shared/contract'

const Text = Type.String({ minLength: 1, maxLength: 200 })
const Length = Type.String({ minLength: 2, maxLength: 40, description: 'a duration such as PT5M or 1h' })
const MAX_PROPERTIES = 20
const MAX_METRICS = 10
const MAX_VALUES = 20
const MAX_SECONDS = 20
/** Time limit of a proof in ms, with the start of its thread */
export const MAX_PROOF_MS = 2 * MAX_SECONDS * 1_000

const Values = Type.Union([
  closed({ min: Type.Number(), max: Type.Number() }, { description: 'numbers between two limits' }),
  closed({ values: Type.Array(Type.Unknown(), { minItems: 1, maxItems: MAX_VALUES }) }),
])

const CONDITION = `a condition is one of
{ "fires": node }, { "state": { "node": node, "is": [state] } }, { "unknown": node },
{ "reads": { "metric": name, "above" | "below" | "equals": value } },
{ "all": [conditions] }, { "any": [conditions] }, { "not": condition }, { "implies": [if, then] },
{ "becomes": condition }, { "ends": condition }, { "recently": { "condition": condition, "within": "PT5M" } }`

const condition = Type.Unsafe<unknown>({ type: 'object', description: CONDITION.replaceAll('\n', ' ') })

const Property = Type.Union([
  closed({ always: condition }),
  closed({ never: condition }),
  closed({ atMost: closed({ firings: Type.Integer({ minimum: 0 }), within: Length, node: Type.Optional(Text) }) }),
  closed({ neverSilentFor: closed({ longest: Length, node: Type.Optional(Text), while: Type.Optional(condition) }) }),
  closed({ leadsTo: closed({ first: condition, then: condition, within: Length }) }),
])

export const ProofRequestSchema = closed(
  {
    rule: Type.Record(Type.String(), Type.Unknown(), { description: 'a rule or template', ...CHECKED }),
    resource: Type.Optional(Text),
    variables: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    metrics: Type.Record(Text, Values, { minProperties: 1, maxProperties: MAX_METRICS }),
    properties: Type.Array(Property, { minItems: 1, maxItems: MAX_PROPERTIES }),
    length: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, description: 'messages in a sequence; default 12' })),
    seconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_SECONDS, description: 'time of the search; default 10' }),
    ),
  },
  { title: 'proof request' },
)
export interface ProofRequest extends Decoded<typeof ProofRequestSchema> {}

/** The properties hold for the sequences that were tried, or a sequence of messages violates one. */
export type Proved =
  | {
      readonly holds: true
      readonly properties: readonly string[]
      /** number of messages in the sequences that were all tried */
      readonly length: number
      /** for sequences of any length */
      readonly isComplete: boolean
      readonly states: number
    }
  | { readonly holds: false; readonly problem: string; readonly messages: readonly object[] }
