import { describe, expect, it } from 'vitest'
import { Preparer } from '../../../src/core/engine/prepare.ts'
import type { TaskSettings, Template } from '../../../src/core/rule/rule.ts'
import { frozenCopy } from '../../../src/core/plug/frozen-copy.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import { on } from '../../support/rule-writing.ts'
import { ScriptedPlugs } from '../../support/scripted-plugs.ts'

const template: Template = {
  name: 'threshold',
  sensors: [{ label: 's', ...on('switch') }],
  variables: [{ name: 'limit', type: 'integer', defaultValue: 3 }],
  taskDefaults: { type: 'reactive' },
}

function prepareBoth(a: TaskSettings, b: TaskSettings) {
  const preparer = new Preparer(createRegistry(new ScriptedPlugs().plugs))
  return [preparer.prepare(template, a), preparer.prepare(template, b)] as const
}

describe('tasks of one template', () => {
  it('share their settings when only their resources differ, and each keeps its own resource', () => {
    const [a, b] = prepareBoth({ resource: 'a' }, { resource: 'b' })
    expect(b.settings).toBe(a.settings)
    expect([a.resource, b.resource]).toEqual(['a', 'b'])
    expect([a.rule.task?.resource, b.rule.task?.resource]).toEqual(['a', 'b'])
    expect(a.rule.task).toMatchObject({ type: 'reactive', variables: { limit: 3 } })
  })

  it.each<[string, TaskSettings]>([
    ['variables', { variables: { limit: 4 } }],
    ['tags', { tags: { floor: 1 } }],
    ['clock', { type: 'periodic', frequency: 1000 }],
  ])('have settings of their own when their %s differ', (_, settings) => {
    const [a, b] = prepareBoth({}, settings)
    expect(b.settings).toMatchObject(settings)
    expect(a.settings).not.toMatchObject(settings)
    expect(b.rule.task).toMatchObject(settings)
  })

  it('share them when only their names differ, and each keeps its own name', () => {
    const [a, b] = prepareBoth({ name: 'mine', resource: 'r' }, { name: 'yours', resource: 'r' })
    expect(b.settings).toBe(a.settings)
    expect([a.name, b.name]).toEqual(['mine', 'yours'])
    expect([a.rule.task?.name, b.rule.task?.name]).toEqual(['mine', 'yours'])
  })

  it('use the current template, whether it is frozen or not', () => {
    const preparer = new Preparer(createRegistry(new ScriptedPlugs().plugs))
    const changed: { -readonly [Key in keyof Template]: Template[Key] } = structuredClone(template)
    const frozen = frozenCopy(template)
    const other = frozenCopy<Template>({ ...template, taskDefaults: { type: 'reactive', frequency: 7 } })
    const at = (one: Template) => preparer.prepare(one, { resource: 'r' }).rule.task
    for (let time = 0; time < 3; time++) {
      expect([at(changed), at(frozen)]).toEqual([at(template), at(template)])
      expect(at(other)).toMatchObject({ frequency: 7 })
    }
    changed.taskDefaults = { type: 'reactive', variables: { limit: 9 } }
    expect(at(changed)).toMatchObject({ variables: { limit: 9 } })
    expect(at(frozen)).toMatchObject({ variables: { limit: 3 } })
  })

  it('of a frozen template are prepared again for other plugs', () => {
    const plugs = createRegistry(new ScriptedPlugs().plugs)
    let list = plugs.list()
    const preparer = new Preparer({ ...plugs, list: () => list })
    const frozen = frozenCopy(template)
    const [first, again] = [preparer.prepare(frozen), preparer.prepare(frozen)]
    expect(again.graph).toBe(first.graph)
    list = [...list]
    expect(preparer.prepare(frozen).graph).not.toBe(first.graph)
  })

  it('have no resource when it is empty in the request, although their rule has one', () => {
    const [a, b] = prepareBoth({ resource: 'a' }, { resource: '' })
    expect(b.resource).toBeUndefined()
    expect(b.rule.task?.resource).toBe('')
    expect(a.resource).toBe('a')
  })
})
