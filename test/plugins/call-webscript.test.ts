import { describe, expect, it } from 'vitest'
import { callWebscriptPlugs } from '../../plugins/call-webscript/plug.ts'
import type { WebscriptPort } from '../../src/core/plug/services.ts'
import { AppError } from '../../src/kernel/errors.ts'
import { runPlugLater } from '../support/plug-context.ts'
import { plugServices } from '../support/plug-services.ts'

const plugOf = (kind: 'sensor' | 'actuator', port?: WebscriptPort) => {
  return callWebscriptPlugs(port).find((plug) => plug.kind === kind) ?? expect.fail(kind)
}
const answering = (status: number): WebscriptPort => ({ call: async () => ({ status, data: 'x' }) })

describe('callWebscript', () => {
  it('passes its input to the webscript, and returns the response', async () => {
    const { webscripts, asked } = plugServices()
    const properties = { name: 'greet', version: '^1', path: '/a', query: { n: 2, text: 'b' }, body: { t: 93 } }
    const ran = await runPlugLater(plugOf('sensor', webscripts), { properties })
    expect(ran).toMatchObject({ state: 'Success', rawData: { status: 200, data: { hello: 'you' } } })
    const request = { name: 'greet', version: '^1', method: 'POST', path: '/a', query: { n: '2', text: 'b' } }
    expect(asked).toMatchObject([{ call: 'call', with: [{ ...request, body: { t: 93 } }] }])
  })

  it.each([
    [200, 'Success'],
    [299, 'Success'],
    [300, 'Error'],
    [404, 'Error'],
    [503, 'Error'],
  ])('a response of %i is a %s', async (status, state) => {
    const properties = { name: 'greet' }
    expect(await runPlugLater(plugOf('sensor', answering(status)), { properties })).toMatchObject({ state })
    const acted = runPlugLater(plugOf('actuator', answering(status)), { properties })
    if (state === 'Success') await expect(acted).resolves.toMatchObject({ rawData: { status } })
    else await expect(acted).rejects.toThrow(`greet responded with status ${status}`)
  })

  it('explains why it cannot be called', async () => {
    const refusing: WebscriptPort = { call: () => Promise.reject(new AppError('NOT_FOUND', 'there is no webscript x')) }
    expect(await runPlugLater(plugOf('sensor', refusing), { properties: { name: 'x' } })).toMatchObject({
      state: 'Error',
      rawData: { error: 'there is no webscript x' },
    })
    await expect(runPlugLater(plugOf('actuator'), { properties: { name: 'x' } })).rejects.toThrow(
      /the service webscripts is missing/,
    )
  })
})
