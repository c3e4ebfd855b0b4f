import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../support/arbitraries/runs.ts'
import { World } from './support/world.ts'

type Step =
  | { readonly do: 'link'; readonly resource: string; readonly type: string | null }
  | { readonly do: 'delete'; readonly resource: string }
  | { readonly do: 'templates'; readonly type: string; readonly templates: readonly (readonly [string, number])[] }
  | { readonly do: 'touch'; readonly type: string }
  | { readonly do: 'deleteType'; readonly type: string }
  | { readonly do: 'template'; readonly template: string; readonly there: boolean }
  | { readonly do: 'die'; readonly after: number }
  | { readonly do: 'restart' }
  | { readonly do: 'wait'; readonly turns: number }

const resource = fc.constantFrom('r1', 'r2', 'r3', 'r4', 'r5')
const type = fc.constantFrom('a', 'b')
const template = fc.constantFrom('t', 'u', 'v')
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('link'), resource, type: fc.option(type) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete'), resource }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('templates'),
      type,
      templates: fc.array(fc.tuple(template, fc.nat(1)), { maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('touch'), type }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('deleteType'), type }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('template'), template, there: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('die'), after: fc.nat(12) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('restart') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait'), turns: fc.nat(6) }) },
)

async function carryOut(world: World, one: Step): Promise<void> {
  switch (one.do) {
    case 'link':
      return world.write('resource', one.resource, one.type === null ? {} : { resourceTypeId: one.type })
    case 'delete':
      return world.write('resource', one.resource, undefined)
    case 'templates': {
      const templates = one.templates.map(([templateName, frequency]) => ({ templateName, frequency }))
      return world.write('resourcetype', one.type, { templates })
    }
    case 'touch': {
      const { id: _id, ...own } = world.types.get(one.type) ?? { id: one.type }
      return world.write('resourcetype', one.type, { ...own, name: String(world.log.length) })
    }
    case 'deleteType':
      return world.write('resourcetype', one.type, undefined)
    case 'template':
      if (one.there) world.tasks.missingTemplates.delete(one.template)
      else world.tasks.missingTemplates.add(one.template)
      return
    case 'die':
      return world.life.dieAfter(one.after)
    case 'restart':
      return world.again()
    case 'wait':
      for (let turn = 0; turn < one.turns; turn++) await setImmediate()
  }
}

// Holds RESOURCE-3, MANAGED-1, MANAGED-2
describe('managed tasks', () => {
  it('finally match the requirements of types, without duplicates, after any writes and crashes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }), async (steps) => {
        const world = new World()
        await world.upkeep.start()
        for (const one of steps) await carryOut(world, one)
        if (world.life.isDead || steps.some((one) => one.do === 'die')) await world.again()
        world.tasks.missingTemplates.clear()
        await world.upkeep.idle()
        // failed work is retried when its time comes, without further writes
        for (let round = 0; round < 3; round++) {
          world.ring()
          await world.upkeep.idle()
        }
        expect(world.tasks.names).toEqual(world.wanted)
        expect(world.upkeep.waiting).toBe(0)
        const made = world.tasks.made
        await world.again()
        await world.upkeep.idle()
        expect(world.tasks.made).toBe(made)
      }),
      runs(200),
    )
  })
})
