/** Checks a draft by a simulation of one message, and reads the states, placeholders and calls of that run. */
import type { ExplanationText, FoundVariable } from '#services/rules/contract'
import { apply, type NodeStates } from '../graph/node-states.ts'
import { api } from '../session.ts'
import type { EditorProblem } from '../words/editor.ts'
import type { PatchOperation } from './document.ts'
import { type Json, listOf, nodeAt } from './rule-edits.ts'

export interface Fixable extends EditorProblem {
  readonly fix?: readonly PatchOperation[]
}

/** What the draft is tried on. */
export interface Trial {
  /** empty: none */
  readonly resource: string
  /** values of the message; undefined: no message */
  readonly message: Json | undefined
  readonly variables: Json
}

export interface Checked {
  readonly text: string
  readonly problems: readonly Fixable[]
  readonly states: NodeStates
  /** of the chosen node */
  readonly why?: ExplanationText
  /** texts of the chosen node's properties with their placeholders replaced, by name */
  readonly resolved: ReadonlyMap<string, string>
  readonly fired: readonly string[]
  readonly variables: readonly FoundVariable[]
}

const PLACEHOLDER = /\$\{|\{\{|^META\./
/** No sensor of a rule runs later. */
const LAST = 1_000_000

/** Sensors that render the texts of a node's properties, by the name of the property. */
function probesOf(rule: Json, node: string | undefined): ReadonlyMap<string, Json> {
  const { properties, resource = '$' } = nodeAt(rule, node)?.node ?? {}
  const texts = Object.entries((properties ?? {}) as Json).filter(
    ([, value]) => typeof value === 'string' && PLACEHOLDER.test(value),
  )
  return new Map(
    texts.map(([name, template], index) => {
      const label = `placeholders of property ${index + 1}`
      return [name, { label, name: 'template', resource, sequence: LAST, properties: { template } }] as const
    }),
  )
}

export async function checkDraft(text: string, rule: Json, node: string | undefined, trial: Trial): Promise<Checked> {
  const { message, variables } = trial
  const resource = trial.resource === '' ? 'resource' : trial.resource
  const sensors = listOf(rule, 'sensors')
  const probes = message === undefined ? new Map<string, Json>() : probesOf(rule, node)
  const probed = probes.size === 0 ? rule : { ...rule, sensors: [...sensors, ...probes.values()] }
  const found = await api.rules.tools.variables(rule).catch(() => [])
  try {
    const { events, explanation } = await api.rules.tools.simulate({
      rule: probed,
      resource,
      variables,
      messages: message === undefined ? [] : [{ timestamp: Date.now(), ...message, resource }],
      ...(node !== undefined && message !== undefined && { explain: node }),
    })
    const own = new Set([...probes.values()].map(({ label }) => label))
    const shown = events.filter((event) => !('node' in event && own.has(event.node)))
    const resolved = [...probes].map(([name, { label }]) => {
      const result = events.find((event) => event.type === 'result' && event.node === label)
      const rendered = result?.type === 'result' ? (result.rawData as Json | undefined)?.['result'] : undefined
      return [name, typeof rendered === 'string' ? rendered : ''] as const
    })
    return {
      text,
      problems: [],
      states: shown.reduce<NodeStates>((before, event) => apply(before, event), new Map()),
      resolved: new Map(resolved),
      fired: shown.flatMap((event) => (event.type === 'fired' ? [event.node] : [])),
      variables: found,
      ...(explanation && { why: explanation.text }),
    }
  } catch (thrown) {
    const { issues = [] } = thrown as { readonly issues?: readonly Fixable[] }
    const problems = issues
      .map(inRule)
      .filter(({ path }) => Number(/^\/sensors\/(\d+)/.exec(path)?.[1] ?? 0) < Math.max(1, sensors.length))
    if (problems.length === 0) throw thrown
    return { text, problems, states: new Map(), resolved: new Map(), fired: [], variables: found }
  }
}

/** Makes paths of the request paths of the rule. */
function inRule({ path, fix, ...rest }: Fixable): Fixable {
  const strip = (from: string): string => from.replace(/^\/rule(?=\/|$)/, '')
  return { ...rest, path: strip(path), ...(fix && { fix: fix.map((one) => ({ ...one, path: strip(one.path) })) }) }
}
