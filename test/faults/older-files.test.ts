/** Files of different age side by side, as after a backup of one of them: what is posted is stored, and the log says so. */
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/host/config.ts'
import { startHost, type RunningHost } from '../../src/host/running-host.ts'
import { until } from '../support/until.ts'
import { ANY_TIME } from '../support/any-time.ts'
import { testFolder } from '../support/test-folder.ts'

const folder = testFolder()
const file = (name: string) => join(folder, name)

const log: string[] = []
function start(): Promise<RunningHost> {
  const given = { port: 0, store: 'sqlite:', data: folder, key: 'k', secret: 's', ...ANY_TIME }
  return startHost(readConfig(given, {}, ['broker']), { write: (line) => void log.push(line) }, { hashCost: 2 })
}

/** Posts values, and resolves when the newest of them is in series. */
async function post(host: RunningHost, values: readonly number[]): Promise<void> {
  const headers = { authorization: `Basic ${btoa('k:s')}`, 'content-type': 'application/json' }
  for (const value of values) {
    const body = JSON.stringify({ level: value, timestamp: value * 1000 })
    const { status } = await fetch(`${host.url}/resources/boiler`, { method: 'POST', headers, body })
    expect(status).toBeLessThan(300)
  }
  const newest = values.at(-1)
  await until(async () => {
    const answer = await fetch(`${host.url}/resources/boiler/series/level?from=0&until=100000`, { headers })
    const { series } = (await answer.json()) as { series: readonly (readonly [number, number])[] }
    return series.some(([, value]) => value === newest)
  })
}

describe('a state.db that is older than the series.db beside it', () => {
  it('stores what is posted, and the log reports what is missing', async () => {
    const first = await start()
    await post(first, [1, 2])
    await first.stop()
    copyFileSync(file('state.db'), file('state.backup'))
    const second = await start()
    await post(second, [3, 4, 5, 6])
    await second.stop()
    for (const end of ['', '-wal', '-shm']) rmSync(file(`state.db${end}`), { force: true })
    copyFileSync(file('state.backup'), file('state.db'))
    log.length = 0
    const third = await start()
    await post(third, [7])
    await third.stop()
    expect(log.filter((line) => line.includes('the log is older, for example from a'))).toHaveLength(1)
    log.length = 0
    const fourth = await start()
    await post(fourth, [8])
    await fourth.stop()
    expect(log.filter((line) => line.includes('older'))).toEqual([])
  })
})
