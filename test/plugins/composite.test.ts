import { describe, expect, it } from 'vitest'
import { createCallUrl } from '../../plugins/call-url/plug.ts'
import { createComposite } from '../../plugins/composite/plug.ts'
import { inRange } from '../../plugins/in-range/plug.ts'
import { invokeCount } from '../../plugins/invoke-count/plug.ts'
import { log } from '../../plugins/log/plug.ts'
import { actsWith } from '../../src/core/plug/acts-with.ts'
import { checkPlug, runPlugLater } from '../support/plug-context.ts'

const composite = createComposite([inRange, invokeCount, log])
const range = { lowerLimit: 18, upperLimit: 24 }

describe('composite', () => {
  it('runs the sensor for each item and returns all results in order', async () => {
    const propertyList = [
      { value: 21, ...range },
      { value: 30, ...range },
    ]
    expect(await runPlugLater(composite, { properties: { sensor: 'inRange', propertyList } })).toMatchObject({
      state: 'Success',
      rawData: { response: [{ state: 'In Range' }, { state: 'Above' }] },
    })
  })

  it('returns Error when one run failed, and keeps the results of the others', async () => {
    const propertyList = JSON.stringify([{ value: 21, ...range }, { value: 1 }])
    const ran = await runPlugLater(composite, { properties: { sensor: 'inRange', propertyList } })
    expect(ran.state).toBe('Error')
    expect(JSON.stringify(ran.rawData)).toContain('lowerLimit')
    expect(JSON.stringify(ran.rawData)).toContain('In Range')
  })

  it('keeps a separate memory for each item', async () => {
    const properties = { sensor: 'invokeCount', propertyList: [{}, {}] }
    const first = await runPlugLater(composite, { properties })
    const second = await runPlugLater(composite, { properties, internalState: first.internalState })
    expect(second.rawData?.['response']).toEqual([
      { state: 'Incremented', rawData: { count: 2 } },
      { state: 'Incremented', rawData: { count: 2 } },
    ])
  })

  it('counts as acting if one of its runs acts', () => {
    const calling = createComposite([inRange, createCallUrl()])
    const listed = (...methods: readonly string[]) => methods.map((method) => ({ method }))
    expect(actsWith(calling, { sensor: 'callURL', propertyList: listed('GET', 'POST') })).toBe(true)
    expect(actsWith(calling, { sensor: 'callURL', propertyList: listed('GET', 'HEAD') })).toBe(false)
    expect(actsWith(calling, { sensor: 'inRange', propertyList: [{}] })).toBe(false)
    expect(actsWith(calling, { sensor: 'nope', propertyList: [{}, 1] })).toBe(false)
  })

  it.each([
    [{ sensor: 'log' }, '"log" is not a sensor'],
    [{ propertyList: [1] }, 'item 0 of propertyList'],
    [{ propertyList: Array.from({ length: 1001 }, () => ({})) }, 'at most 1000'],
  ])('rejects %j', (properties, text) => {
    expect(checkPlug(composite, properties).join()).toContain(text)
  })
})
