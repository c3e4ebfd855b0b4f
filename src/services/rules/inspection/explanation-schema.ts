/** Schema of an explanation: states, firings, obstacles and needs of a node, with the same as sentences. */
import { Type } from 'typebox'
import type { Obstacle } from '#core'
import { REASONS } from '#core/sentences'
import { AnyObject, EpochMs, Text } from '../shared-schema.ts'

const Count = Type.Integer({ minimum: 0 })
const OrNull = Type.Union([Text, Type.Null()])
const Since = { since: Type.Optional(EpochMs), until: Type.Optional(EpochMs) }

const Input = Type.Object({
  kind: Type.Enum(['start', 'tick', 'ownTick', 'data', 'push', 'run']),
  time: EpochMs,
  scheduledAt: Type.Optional(EpochMs),
  node: Type.Optional(Text),
  resource: Type.Optional(Text),
  channel: Type.Optional(Text),
  values: Type.Optional(AnyObject),
})

const Trigger = Type.Object({
  source: Text,
  destination: Text,
  matched: Type.Enum(['state', 'change', 'begins', 'ends', 'execution']),
  from: OrNull,
  to: OrNull,
})

const chain = {
  sensors: Type.Array(
    Type.Object({
      node: Text,
      state: OrNull,
      since: Type.Optional(EpochMs),
      input: Type.Optional(Input),
      carried: Type.Optional(
        Type.Record(Text, Type.Object({ time: EpochMs }), { description: 'values of earlier messages' }),
      ),
    }),
  ),
  gates: Type.Array(
    Type.Object({
      node: Text,
      type: Text,
      state: Type.Union([Type.Enum(['TRUE', 'FALSE']), Type.Null()]),
      row: Type.Record(Text, OrNull, { description: 'the state of each parent' }),
    }),
  ),
  via: Type.Optional(
    Type.Array(Type.Object({ source: Text, destination: Text, time: EpochMs }), {
      description: 'triggers that led to the source, earliest first',
    }),
  ),
}

const reasonOf = {
  reason: Type.Enum(Object.keys(REASONS) as Obstacle['reason'][]),
  node: Text,
}
const Blocked = Type.Array(Type.Object({ ...reasonOf, message: Text, ...Since }))
const States = Type.Array(Type.Object({ node: Text, state: Text }))

const ways = {
  ways: Type.Array(Type.Object({ states: States, then: Type.Optional(States) }), {
    description:
      'all smallest sets of sensor states that suffice; `then`: the states that must follow if one input does not suffice',
  }),
  waysLeftOut: Type.Optional(Type.Integer({ minimum: 1, description: 'number of equally small ways not listed' })),
}

const ExplanationText = Type.Object({
  sentence: Type.String({ description: 'what the node did or which state it has, and why' }),
  chain: Type.Array(
    Type.Object({
      kind: Type.Enum(['data', 'via', 'sensor', 'gate', 'trigger']),
      node: Type.Optional(Text),
      text: Text,
    }),
  ),
  whyNot: Type.Array(
    Type.Object({
      source: Text,
      sentence: Text,
      reasons: Type.Array(Type.Object({ ...reasonOf, name: Text, sentence: Text, rule: Text, ...Since })),
      needs: Type.Optional(Text),
    }),
  ),
  others: Type.Optional(Type.Array(Type.Object({ state: Text, needs: Text }))),
  notes: Type.Array(Text),
})

export const ExplanationSchema = Type.Object(
  {
    node: Text,
    kind: Type.Enum(['sensor', 'gate', 'actuator']),
    time: EpochMs,
    behind: Type.Optional(
      Type.Object(
        { since: EpochMs, inputs: Count },
        { description: 'waiting inputs; the explanation is as of `since`' },
      ),
    ),
    state: Type.Optional(
      Type.Object(
        {
          value: OrNull,
          since: Type.Optional(EpochMs),
          ...chain,
          blocked: Blocked,
          others: Type.Optional(Type.Array(Type.Object({ state: Text, ...ways }))),
        },
        { description: 'of a sensor or gate; `value` null: unknown; `others`: what each other state of a gate needs' },
      ),
    ),
    fired: Type.Union([
      Type.Object({
        time: EpochMs,
        why: Type.Object({ input: Input, trigger: Trigger, also: Type.Optional(Type.Array(Trigger)), ...chain }),
      }),
      Type.Null(),
    ]),
    triggers: Type.Array(
      Type.Object({
        source: Text,
        condition: Text,
        blocked: Blocked,
        needs: Type.Union([States, Type.Null()], {
          description: 'the first of `ways`; null: it has two steps',
        }),
        ...ways,
      }),
    ),
    neverRun: Type.Optional(Type.Array(Type.Object({ node: Text, message: Text }))),
    readings: Type.Optional(Type.Record(Text, Count, { description: 'readings that arrived out of order' })),
    text: ExplanationText,
  },
  { title: 'Explanation' },
)
