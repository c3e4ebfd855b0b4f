import { describe, expect, it } from 'vitest'
import { helloWorld } from '../../plugins/hello-world/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'

describe('helloWorld', () => {
  it.each([
    [{}, 'Greeted', 'Hello, world!'],
    [{ who: 'boiler-1' }, 'Greeted', 'Hello, boiler-1!'],
    [{ who: 'you', repeat: 2 }, 'Greeted', 'Hello, Hello, you!'],
    [{ who: ' ' }, 'Nobody', ''],
  ])('with %j is %s with "%s"', (properties, state, greeting) => {
    expect(runPlug(helloWorld, { properties })).toMatchObject({ state, rawData: { greeting } })
  })

  it('reports a number of the message, and fails if the number is missing', () => {
    const properties = { reading: 't' }
    const greeting = (t: unknown) => runPlug(helloWorld, { properties, message: { t } }).rawData?.['greeting']
    expect([greeting(21.5), greeting('20.0')]).toEqual(['Hello, world! It is 21.5.', 'Hello, world! It is 20.'])
    for (const t of [null, '', '0123', undefined])
      expect(() => greeting(t)).toThrow(expect.objectContaining({ code: 'PLUG_FAILED' }))
  })

  it('allows 1 to 10 repetitions', () => {
    expect(checkPlug(helloWorld, { repeat: 10 })).toEqual([])
    expect(checkPlug(helloWorld, { repeat: 11 })).toEqual(['repeat: repeat 11 is out of range'])
    expect(runPlug(helloWorld, { properties: { who: 'a', repeat: 99 } }).rawData?.['greeting']).toHaveLength(72)
  })
})
