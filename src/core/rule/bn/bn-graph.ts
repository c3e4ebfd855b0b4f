/**
 * Defines the `bn` form of a rule (`format=bn`): nodes with their states, and a truth table for each relation. Fields
 * for which the form has no place keep their names in a node's `properties`.
 */
import { Type } from 'typebox'
import type { Position } from '../rule.ts'

export interface BnGraph {
  name?: string
  nodes: readonly BnNode[]
  posterior: readonly BnTable[]
  metadata?: BnMetadata
}

/** A sensor (if it has `properties.sensor`) or a relation (otherwise). */
export interface BnNode {
  name: string
  states: readonly string[]
  type?: string
  mode?: string
  /** only for sensors: one number per state, all equal */
  priors?: readonly number[]
  properties?: BnNodeProperties
}

export interface BnNodeProperties {
  position?: Position
  cost?: number
  sensor?: BnPlug
  /** first trigger into this sensor */
  nodeTrigger?: BnNodeTrigger
  nodeTriggers?: readonly BnNodeTrigger[]
  actions?: readonly BnAction[]
  /** type of a relation whose table alone would be read as another type */
  type?: string
  /** only for a GENERAL relation whose row order differs: row numbers of its table, in the order of its combinations */
  rowOrder?: readonly number[]
  readonly [field: string]: unknown
}

export interface BnPlug {
  name: string
  version?: string
  label?: string
  requiredProperties?: readonly Readonly<Record<string, unknown>>[]
}

export interface BnNodeTrigger {
  nodeName: string
  /** empty if the trigger has no change of state */
  stateFrom?: string
  stateTo?: string
  states?: readonly string[]
  begins?: readonly string[]
  ends?: readonly string[]
  /** cool-down in seconds */
  invocationPolicy?: number
  /** position among the rule's triggers; present if the graph implies another order */
  order?: number
}

export interface BnAction extends BnPlug {
  position?: Position
  triggeredStates?: readonly string[]
  /** cool-down in seconds; 0: none */
  actionPolicy?: number
  /** cool-down in seconds, including an explicit 0; `actionPolicy` is 0 both for 0 and for no value */
  invocationPolicy?: number
  nodeTrigger?: { stateFrom?: string; stateTo?: string }
  begins?: readonly string[]
  ends?: readonly string[]
  order?: number
  readonly [field: string]: unknown
}

export interface BnTable {
  /** the relation followed by its parents */
  nodes: readonly string[]
  /** row-major: the relation varies slowest, the last parent fastest; 1 where the relation has that state, else 0 */
  function: readonly number[]
}

export interface BnMetadata {
  infoBoxes?: readonly { x?: number; y?: number; text: string }[]
  actions?: readonly BnAction[]
}

/** Maximum number of cells in all tables of one graph together. */
export const MAX_CELLS = 1_048_576

const PositionSchema = Type.Array(Type.Number(), { minItems: 2, maxItems: 2, description: '[x, y]' })
const plug = {
  name: Type.String({ minLength: 1 }),
  version: Type.Optional(Type.String()),
  label: Type.Optional(Type.String()),
  requiredProperties: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
}
const change = { stateFrom: Type.Optional(Type.String()), stateTo: Type.Optional(Type.String()) }
const edges = { begins: Type.Optional(Type.Array(Type.String())), ends: Type.Optional(Type.Array(Type.String())) }
const NodeTrigger = Type.Object(
  {
    nodeName: Type.String({ minLength: 1 }),
    ...change,
    ...edges,
    states: Type.Optional(Type.Array(Type.String())),
    invocationPolicy: Type.Optional(Type.Number({ minimum: 0 })),
    order: Type.Optional(Type.Number()),
  },
  { title: 'nodeTrigger' },
)
const Action = Type.Object({
  ...plug,
  position: Type.Optional(PositionSchema),
  triggeredStates: Type.Optional(Type.Array(Type.String())),
  actionPolicy: Type.Optional(Type.Number({ minimum: 0 })),
  invocationPolicy: Type.Optional(Type.Number({ minimum: 0 })),
  nodeTrigger: Type.Optional(Type.Object(change)),
  ...edges,
  order: Type.Optional(Type.Number()),
})
const Node = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    states: Type.Array(Type.String()),
    type: Type.Optional(Type.String()),
    mode: Type.Optional(Type.String()),
    priors: Type.Optional(Type.Array(Type.Number())),
    properties: Type.Optional(
      Type.Object({
        position: Type.Optional(PositionSchema),
        cost: Type.Optional(Type.Integer({ minimum: 0 })),
        sensor: Type.Optional(Type.Object(plug)),
        nodeTrigger: Type.Optional(NodeTrigger),
        nodeTriggers: Type.Optional(Type.Array(NodeTrigger)),
        actions: Type.Optional(Type.Array(Action)),
        type: Type.Optional(Type.String()),
        rowOrder: Type.Optional(Type.Array(Type.Integer({ minimum: 0 }))),
      }),
    ),
  },
  { title: 'node' },
)

export const BnGraphSchema = Type.Object({
  name: Type.Optional(Type.String()),
  nodes: Type.Array(Node),
  posterior: Type.Array(
    Type.Object({ nodes: Type.Array(Type.String(), { minItems: 2 }), function: Type.Array(Type.Number()) }),
  ),
  metadata: Type.Optional(
    Type.Object({
      infoBoxes: Type.Optional(
        Type.Array(
          Type.Object({ x: Type.Optional(Type.Number()), y: Type.Optional(Type.Number()), text: Type.String() }),
        ),
      ),
      actions: Type.Optional(Type.Array(Action)),
    }),
  ),
})
