/** Provides rules, templates and plugs for tests of the service. */
import { definePlug } from '../../../../src/core/plug/define.ts'
import type { Plug, Rule, Template } from '../../../../src/index.ts'

function heat(version: string, compatible?: string): Plug {
  return definePlug({
    name: 'heat',
    version,
    ...(compatible !== undefined && { compatible }),
    kind: 'sensor',
    states: ['COLD', 'HOT'],
    input: { limit: { type: 'double', mandatory: true } },
    output: { temperature: { type: 'double' } },
    execute: (context) => {
      const temperature = context.streamValue('temperature')
      if (typeof temperature !== 'number') return undefined
      context.log.info(`measured ${temperature}`)
      return { state: temperature > context.properties.limit ? 'HOT' : 'COLD', rawData: { temperature } }
    },
  })
}

const say = definePlug({
  name: 'say',
  version: '1.0.0',
  kind: 'actuator',
  input: { text: { type: 'string', mandatory: true } },
  execute: ({ properties }) => ({ message: properties.text, rawData: { said: properties.text } }),
})

const broken = definePlug({
  name: 'broken',
  version: '1.0.0',
  kind: 'sensor',
  states: ['OK'],
  execute: () => {
    throw new Error('it smokes')
  },
})

const always = definePlug({ name: 'always', version: '1.0.0', kind: 'sensor', states: ['ON'], execute: () => 'ON' })

/** Two versions of `heat`, of which the newer replaces older ones, and one version of each other plug. */
export const PLUGS: readonly Plug[] = [heat('1.0.0'), heat('1.1.0', '>=0.2.0 <1'), say, broken, always]

export const GRAPH = {
  sensors: [
    { label: 'hot', name: 'heat', version: '1.0.0', resource: '$', properties: { limit: 90 }, position: [10, 20] },
  ],
  actuators: [{ label: 'alarm', name: 'say', version: '1.0.0', properties: { text: 'too hot' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['HOT'] }],
} satisfies Rule

export function ruleOf(task: Rule['task'] = {}): Rule {
  return { ...GRAPH, task: { name: 'watch', type: 'reactive', resource: 'boiler-1', ...task } }
}

export function templateOf(name = 'overheating', more: Partial<Template> = {}): Template {
  return { name, ...GRAPH, ...more }
}

/** A rule that runs once and ends. */
export const ONCE: Rule = {
  sensors: [{ label: 'on', name: 'always', version: '1.0.0' }],
  task: { name: 'once', type: 'onetime' },
}
