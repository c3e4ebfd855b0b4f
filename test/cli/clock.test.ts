/** Tests `reflexarc clock`: the order stays in the data folder until the host has carried it out. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { compose } from '../../src/host/compose.ts'
import { readConfig } from '../../src/host/config.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import { followOnOrder } from '../../src/host/clock-order.ts'
import { runClock } from '../../src/cli/clock.ts'
import { testFolder } from '../support/test-folder.ts'

function folder(): string {
  const made = testFolder(onTestFinished)
  return made
}

/** Creates timers whose time advances with each wait; `look` is what the host does meanwhile. */
function handTimers(look: () => void = () => undefined) {
  let now = 0
  return {
    elapsed: () => now,
    after: (ms: number, work: () => void) => {
      now += ms
      look()
      setImmediate(work)
      return () => undefined
    },
  }
}

it('has the host that has the folder follow the clock of its machine, once', async () => {
  const data = folder()
  let followed = 0
  let look = (): void => expect.fail('the host does not look')
  const stop = followOnOrder(
    data,
    () => void (followed += 1),
    (_ms, work) => {
      look = work
      return () => undefined
    },
  )
  look()
  expect(followed).toBe(0)
  const printed: string[] = []
  const out = (text: string): void => void printed.push(text)
  expect(
    await runClock(
      { follow: true, data },
      {},
      { out },
      handTimers(() => look()),
    ),
  ).toBe(0)
  look()
  expect([followed, readdirSync(data)]).toEqual([1, []])
  expect(printed.join('')).toContain('the host follows the clock of its machine')
  stop()
})

it('is received by a host that runs', async () => {
  const data = folder()
  const composed = await compose(readConfig({ data, empty: true }, {}, [...SERVICES.keys()]), { hashCost: 2 })
  onTestFinished(() => composed.close())
  const warned: string[] = []
  composed.serviceLog?.goTo({ warn: (_details, text) => void warned.push(text), error: () => undefined })
  expect(await runClock({ follow: true, data }, {}, { out: () => undefined })).toBe(0)
  expect(warned.join('\n')).toContain('an operator set the time of this host to the clock of the machine')
})

it('says so when no host has the folder, and leaves no order behind', async () => {
  const data = folder()
  const asked = runClock({ follow: true, data }, {}, { out: () => undefined }, handTimers())
  await expect(asked).rejects.toMatchObject({
    code: 'STORE',
    message: 'no host responded within 10 s: set --data to the data folder of a running host',
  })
  expect(readdirSync(data)).toEqual([])
})

it('wants a folder that is there', async () => {
  const data = join(folder(), 'none')
  await expect(runClock({ follow: true, data }, {}, { out: () => undefined })).rejects.toMatchObject({ code: 'USAGE' })
  expect(existsSync(data)).toBe(false)
})
