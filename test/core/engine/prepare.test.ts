import { describe, expect, it } from 'vitest'
import type { StartSettings } from '../../../src/core/engine/api.ts'
import { Preparer } from '../../../src/core/engine/prepare.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import type { Rule, Template } from '../../../src/core/rule/rule.ts'
import { live, liveEngine } from '../../support/live-engine.ts'
import { ScriptedPlugs } from '../../support/scripted-plugs.ts'
import { on } from '../../support/rule-writing.ts'

const template: Template = {
  name: 'threshold',
  sensors: [{ label: 's', ...on('switch'), properties: { value: '${variables.limit}' } }],
  variables: [{ name: 'limit', type: 'integer', mandatory: true }],
  taskDefaults: { type: 'reactive' },
}

describe('a strict engine', () => {
  const misspelt: Rule = { sensors: [{ label: 's', ...on('switch'), properties: { value: 1, valu: 2 } }] }
  const plain = { sensors: [{ label: 's', ...on('switch'), properties: { value: 1 } }] }
  const refusal = { code: 'VALIDATION', issues: [{ type: 'UNKNOWN_PROPERTY', path: '/sensors/0/properties/valu' }] }

  it('rejects an undeclared property of a plug, at start and at update; others warn of it', async () => {
    const strict = liveEngine({ strict: true }).engine
    await expect(strict.start(misspelt)).rejects.toMatchObject(refusal)
    const task = await strict.start(plain)
    await expect(strict.update(task.id, misspelt)).rejects.toMatchObject(refusal)
    const lenient = await liveEngine().engine.start(misspelt)
    expect(lenient.info().warnings).toEqual([expect.stringContaining('has no property "valu"')])
  })

  it('continues a task that was started by a lenient engine', async () => {
    const saved = (await liveEngine().engine.start(misspelt)).save()
    const strict = liveEngine({ strict: true }).engine
    expect((await strict.restore(saved)).status).toBe('running')
    await expect(strict.start(misspelt, { id: 'other' })).rejects.toMatchObject(refusal)
  })
})

describe('a preparer', () => {
  it('checks a known rule again when strict', () => {
    const plugs = createRegistry(new ScriptedPlugs().plugs)
    const rule: Rule = { sensors: [{ label: 's', ...on('switch'), properties: { value: 1, valu: 2 } }] }
    const preparer = new Preparer(plugs)
    expect(preparer.prepare(rule).warnings).toMatchObject([{ type: 'UNKNOWN_PROPERTY', severity: 'WARNING' }])
    expect(() => preparer.prepare(rule, {}, { strict: true })).toThrow('has no property "valu"')
  })
})

describe('a task of a template', () => {
  it('uses the settings of the request', async () => {
    const t = await live(template, { settings: { variables: { limit: 4 }, name: 'mine' } })
    t.send({})
    expect(t.plugs.calls[0]?.properties['value']).toBe(4)
    expect(t.task.info()).toMatchObject({ name: 'mine', template: 'threshold' })
  })

  it.each<[string, StartSettings, RegExp]>([
    ['leaves out a mandatory variable', {}, /limit/],
    ['has a variable of the wrong type', { variables: { limit: 'many' } }, /limit/],
    [
      'overrides a node that does not exist',
      { variables: { limit: 4 }, nodes: [{ name: 'nobody', properties: {} }] },
      /nobody/,
    ],
  ])('is rejected when the request %s, and no task exists', async (_, settings, text) => {
    const { engine } = liveEngine()
    const refusal: unknown = await engine.start(template, settings).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'VALIDATION' })
    expect(String(refusal)).toMatch(text)
    expect(engine.tasks.size).toBe(0)
  })

  it('can override nodes; the template itself is unchanged', async () => {
    const nodes = [{ name: 's', properties: { resource: 'q' } }]
    const t = await live(template, { settings: { variables: { limit: 4 }, nodes } })
    expect(t.task.info().resourceIds).toEqual(['q'])
    const other = await t.engine.start(template, { id: 'u', variables: { limit: 5 } })
    expect(other.info().resourceIds).toEqual(['r'])
  })
})
