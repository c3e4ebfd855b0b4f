import { describe, expect, it } from 'vitest'
import { Metrics } from '../../src/host/metrics.ts'
import { readConfig } from '../../src/host/config.ts'
import { startHost } from '../../src/host/running-host.ts'
import { sampleHost } from './sample-host.ts'

/** Returns the values in the metrics text, by name and labels. */
async function figures(metrics: Metrics): Promise<ReadonlyMap<string, number>> {
  const lines = (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

describe('the figures', () => {
  it('equal the reports of services and runner', async () => {
    const metrics = new Metrics()
    const { gauges } = metrics
    const work = { inputs: 5, steps: 7, firings: 2, held: 1, dropped: 3 }
    gauges.watchWork(() => work)
    gauges.watchWays(() => ({ vectorized: 10, rows: 20, why: { heard: 3, shape: 0 } }))
    gauges.plugTook(20)
    gauges.watchReadings('late', () => 6)
    gauges.watchReadings('badTime', () => 1)
    gauges.watchQueue('outbox', () => 4)
    gauges.watchTasks(async () => ({ running: 2, failed: 1 }))
    let commits = 5
    gauges.watchCommits(() => ({ commits, lastCommitMs: 12 }))
    const seen = await figures(metrics)
    const expected = {
      reflexarc_inputs_total: 5,
      reflexarc_dropped_total: 3,
      reflexarc_steps_total: 7,
      reflexarc_firings_total: 2,
      reflexarc_held_total: 1,
      'reflexarc_task_messages_total{way="vectorized",why=""}': 10,
      'reflexarc_task_messages_total{way="rows",why=""}': 20,
      'reflexarc_task_messages_total{way="plain",why="heard"}': 3,
      'reflexarc_task_messages_total{way="plain",why="shape"}': 0,
      'reflexarc_plug_seconds_bucket{le="0.1"}': 1,
      'reflexarc_plug_seconds_bucket{le="0.01"}': 0,
      'reflexarc_readings_total{reason="late"}': 6,
      'reflexarc_readings_total{reason="badTime"}': 1,
      'reflexarc_queue_depth{queue="outbox"}': 4,
      'reflexarc_tasks{status="running"}': 2,
      'reflexarc_tasks{status="failed"}': 1,
      reflexarc_commits_total: 5,
      reflexarc_last_commit_seconds: 0.012,
    }
    expect(Object.fromEntries(Object.keys(expected).map((name) => [name, seen.get(name)]))).toEqual(expected)
    expect(seen.get('reflexarc_loop_lag_seconds{quantile="0.99"}')).toBeGreaterThanOrEqual(0)
    expect(seen.get('process_resident_memory_bytes')).toBeGreaterThan(1e6)
    commits = 6
    work.steps = 8
    expect((await figures(metrics)).get('reflexarc_commits_total'), 'a total, not a sum of scrapes').toBe(6)
    expect((await figures(metrics)).get('reflexarc_steps_total'), 'likewise').toBe(8)
    metrics.stop()
  })

  it('show a lag when the loop was blocked', async () => {
    const metrics = new Metrics()
    // Each turn is longer than the monitor's interval, so that there is one sample per turn; the first sample has no
    // predecessor.
    for (let turn = 0; turn < 3; turn++) {
      const end = performance.now() + 80
      while (performance.now() < end);
      await new Promise(setImmediate)
    }
    expect((await figures(metrics)).get('reflexarc_loop_lag_seconds{quantile="1"}')).toBeGreaterThan(0.03)
    metrics.stop()
  })
})

describe('GET /metrics', () => {
  const get = { method: 'GET', url: '/metrics' } as const

  it('counts requests by the pattern of their route', async () => {
    await using host = await sampleHost()
    await host.ask({ method: 'GET', url: '/sample/of/one' })
    await host.ask({ method: 'GET', url: '/nowhere' })
    const { body, headers } = await host.app.inject(get)
    expect(headers['content-type']).toMatch(/^text\/plain/)
    expect(body).toContain(
      'reflexarc_http_request_seconds_count{method="GET",route="/sample/of/:tenant",status="200"} 1',
    )
    expect(body).toContain('reflexarc_http_request_seconds_count{method="GET",route="none",status="404"} 1')
    expect(body).toContain('reflexarc_commits_total 7')
  })

  it.each([
    [{ remoteAddress: '127.0.0.1' }, 200],
    [{ remoteAddress: '127.8.8.8' }, 200],
    [{ remoteAddress: '::1' }, 200],
    [{ remoteAddress: '::ffff:127.0.0.1' }, 200],
    [{ remoteAddress: '10.0.0.1' }, 401],
    [{ remoteAddress: '::ffff:10.0.0.1' }, 401],
    [{ remoteAddress: '127.0.0.1', headers: { 'x-forwarded-for': '10.0.0.1' } }, 401],
    [{ remoteAddress: '127.0.0.1', headers: { forwarded: 'for=10.0.0.1' } }, 401],
  ])('without credentials is open only to this machine: %j is %i', async (from, status) => {
    await using host = await sampleHost()
    expect((await host.app.inject({ ...get, ...from })).statusCode).toBe(status)
  })

  it.each([
    ['of the first tenant', 'one', 200],
    ['of another tenant', 'other', 403],
  ])('with a key %s', async (_whose, tenant, status) => {
    await using host = await sampleHost({ tenant })
    expect((await host.ask({ ...get, remoteAddress: '10.0.0.1' })).statusCode).toBe(status)
  })

  it('has a separate port, with the probes, without credentials', async () => {
    const given = { store: 'memory:', port: 0, metricsPort: 0, key: 'k', secret: 's', empty: true, only: 'vault' }
    const host = await startHost(readConfig(given, {}, ['vault']), { write: () => undefined }, { hashCost: 2 })
    const [url = ''] = host.also
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/)
    const headers = { 'x-forwarded-for': '10.0.0.1' }
    expect(await (await fetch(url, { headers })).text()).toContain('reflexarc_commits_total')
    for (const path of ['/live', '/ready', '/health']) {
      expect((await fetch(new URL(path, url), { headers })).status).toBe(200)
    }
    expect((await fetch(new URL('/vault/v1/secrets', url))).status).toBe(404)
    await host.stop()
    await expect(fetch(url)).rejects.toThrow('fetch failed')
  })
})
