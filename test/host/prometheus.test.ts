/** Tests queries in PromQL over HTTP, in the forms that Grafana sends. */
import { describe, expect, it } from 'vitest'
import { basic } from './sample-host.ts'
import { wholeHost } from './whole-host.ts'

describe('the data source for Grafana', () => {
  it('answers queries by GET and POST, with alarms, of one tenant', async () => {
    await using host = await wholeHost({ only: 'prometheus,broker,resources,alarms', empty: true })
    await host.done('POST', '/resources/boiler-1/events', { temperature: 93 })
    const source = { id: 'boiler-1' }
    await host.done('POST', '/alarm/alarms', { type: 'Hot', text: 'too hot', severity: 'MAJOR', source })
    const ask = (query: string, key = 'acme') =>
      host.ask('GET', `/prometheus/api/v1/query?query=${encodeURIComponent(query)}`, undefined, key)
    const metric = { __name__: 'temperature', resource: 'boiler-1' }
    const value = [expect.any(Number) as number, '93']
    const answer = { status: 'success', data: { resultType: 'vector', result: [{ metric, value }] } }
    expect(await ask('temperature')).toEqual({ status: 200, body: answer })
    expect(await ask('temperature', 'umbrella')).toMatchObject({ body: { data: { result: [] } } })
    const form = (path: string, payload: string) =>
      host.app.inject({
        method: 'POST',
        url: `/prometheus/api/v1/${path}`,
        headers: { authorization: basic('acme', 's'), 'content-type': 'application/x-www-form-urlencoded' },
        payload,
      })
    expect((await form('query', 'query=temperature')).json()).toEqual(answer)
    const now = Date.now() / 1_000
    const range = await form('query_range', `query=max(temperature)&start=${now - 60}&end=${now + 60}&step=15`)
    expect(range.json()).toMatchObject({ data: { resultType: 'matrix', result: [{ metric: {} }] } })
    const series = await form('series', 'match[]=temperature&match[]=ALERTS&start=1&end=2')
    expect(series.json()).toMatchObject({ data: [metric, { __name__: 'ALERTS', alertname: 'Hot' }] })
    expect(await ask('sum by (severity) (ALERTS)')).toMatchObject({
      body: { data: { result: [{ metric: { severity: 'MAJOR' }, value: [expect.any(Number) as number, '1'] }] } },
    })
    expect(await host.done('GET', '/prometheus/api/v1/label/resource/values')).toMatchObject({ data: ['boiler-1'] })
  })

  it('has errors in the form of Prometheus', async () => {
    await using host = await wholeHost({ only: 'prometheus', empty: true })
    const { status, body } = await host.ask('GET', '/prometheus/api/v1/query?query=topk(1,t)')
    expect([status, body]).toEqual([
      400,
      { status: 'error', errorType: 'bad_data', error: expect.stringContaining('topk is not supported') as string },
    ])
  })
})
