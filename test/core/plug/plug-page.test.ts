import { describe, expect, it } from 'vitest'
import { definePlug } from '../../../src/core/plug/define.ts'
import { exampleNode, plugPage } from '../../../src/core/plug/plug-page.ts'

const siren = definePlug({
  name: 'siren',
  version: '1.0.0',
  kind: 'actuator',
  description: 'Wails.',
  execute: () => ({}),
})
const range = definePlug({
  name: 'Range',
  version: '1.2.0',
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description: 'Looks | at a\nrange.',
  states: ['In', 'Out'],
  input: {
    value: { type: 'double', mandatory: true, description: 'the value', example: 2 },
    unit: { type: 'string', defaultValue: 'm', description: 'its unit' },
  },
  output: { distance: { type: 'double', unit: 'm', description: 'how far' } },
  openOutput: true,
  execute: () => 'In',
})

describe('the page of a plug', () => {
  it('contains the whole declaration', () => {
    const page = plugPage(range)
    expect(page).toContain('# Range\n\nsensor, version 1.2.0; replaces `>=1.0.0 <2` in rules')
    expect(page).toContain('| `value` | double | yes |  | `2` | the value |')
    expect(page).toContain('| `unit` | string | no | `"m"` |  | its unit |')
    expect(page).toContain('| `distance` | double | m | how far |')
    expect(page).toContain('It may return further fields')
    expect(page).toContain('States: `In`, `Out`.')
    const retry = { maxRetries: 5, minBackoff: 'PT1S', maxBackoff: 'PT1M' }
    expect(plugPage({ ...siren, retry })).toContain('is retried up to 5 times, after PT1S to PT1M')
    expect(plugPage(siren)).toBe(
      '# siren\n\nactuator, version 1.0.0\n\nWails.\n\nIn the actuators of a rule:\n\n```json\n{\n  "label": "siren_1",\n  "name": "siren"\n}\n```',
    )
  })

  it('shows a node to copy, with all mandatory properties', () => {
    expect(exampleNode(range)).toEqual({ label: 'Range_1', name: 'Range', resource: '$', properties: { value: 2 } })
  })
})
