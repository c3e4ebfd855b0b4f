import { describe, expect, it } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import { exampleNode } from '../../src/core/plug/plug-page.ts'
import { createRegistry } from '../../src/core/plug/registry.ts'
import { validateRule } from '../../src/core/rule/validate.ts'
import { cli } from './run-cli.ts'

describe('plugs', () => {
  it('lists every plug with its kind, states and what it does', async () => {
    const { code, stdout, stderr } = await cli(['plugs'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [head, ...lines] = stdout.trimEnd().split('\n')
    expect(head).toMatch(/^plug +kind +states +what it does$/)
    expect(lines).toHaveLength(builtins.length)
    expect(lines.find((line) => line.startsWith('condition '))).toMatch(/sensor +True, False +True when an expression/)
    expect(lines.map((line) => line.split(' ')[0]?.toLowerCase())).toEqual(
      builtins.map(({ name }) => name.toLowerCase()).toSorted(),
    )
  })

  it('reports all about one: properties, types, defaults, states, what it returns, and a node', async () => {
    const { stdout } = await cli(['plugs', 'windowStats'])
    expect(stdout).toContain('# windowStats\n\nsensor, version 2.0.0')
    expect(stdout).toContain('States: `Above`, `In Range`, `Below`, `Collecting`.')
    expect(stdout).toContain('| `percentile` | double | no | `50` | `95` |')
    expect(stdout).toContain('| `mean` | double |')
    expect(stdout).toContain('"name": "windowStats"')
  })

  it('reports about a sensor and an actuator of the same name', async () => {
    const { stdout } = await cli(['plugs', 'debugDialog'])
    expect(stdout.match(/^# debugDialog$/gm)).toHaveLength(2)
  })

  it('shows a node that fits into a rule, for every plug', () => {
    const plugs = createRegistry(builtins)
    for (const plug of builtins) {
      const node = exampleNode(plug)
      const trigger = { sourceLabel: 's', destinationLabel: node['label'] }
      const s = { label: 's', name: 'stream', resource: '$' }
      const rule =
        plug.kind === 'sensor' ? { sensors: [node] } : { sensors: [s], actuators: [node], triggers: [trigger] }
      expect(validateRule(rule, plugs).issues.filter(({ severity }) => severity === 'ERROR')).toEqual([])
    }
  })
})
