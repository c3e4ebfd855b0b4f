import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Rule } from '../../../../src/index.ts'
import { openPostgres } from '../../../../src/storage/postgres/open.ts'
import { noBlobs } from '../../../storage/postgres/no-blobs.ts'
import { describeWithPostgres, type PostgresServer } from '../../../support/postgres-server.ts'
import { runnableOf, SlowGround } from './support/lives.ts'
import { survives } from './support/survival.ts'

const COUNT: Rule = {
  sensors: [{ label: 'count', name: 'count', version: '1.0.0', resource: '$' }],
  task: { type: 'reactive' },
}

describeWithPostgres('a runner on PostgreSQL', (start) => {
  let server: PostgresServer
  let schemas = 0
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.stop())

  const newGround = () => {
    const schema = `ground_${++schemas}`
    return new SlowGround(() => openPostgres({ url: server.url, schema, blobs: noBlobs(), patience: 200 }))
  }

  survives(newGround)

  it('keeps what was acknowledged when the server falls with it, while messages stream in', async () => {
    const ground = newGround()
    const task = runnableOf('a', COUNT, { resource: 'boiler' })
    let acknowledged = 0
    let life = await ground.open({ checkpointMs: 20 })
    await life.begin(task)
    for (let fall = 1; fall <= 3; fall++) {
      const lanes = Array.from({ length: 8 }, async () => {
        for (;;) {
          try {
            await life.send('boiler', { level: 1 })
            acknowledged++
          } catch {
            return
          }
        }
      })
      await expect.poll(() => acknowledged).toBeGreaterThan(40 * fall)
      await server.crash()
      await life.crash()
      await Promise.all(lanes)
      await server.start()
      life = await ground.open({ at: fall, checkpointMs: 20 })
      await life.runner.resume([task])
      const { seen } = (life.runner.nodes.view('a', 'count')[0]?.rawData ?? { seen: 0 }) as { seen: number }
      // In each lane, one message was in flight, which may or may not be stored.
      expect(seen).toBeGreaterThanOrEqual(acknowledged)
      expect(seen).toBeLessThanOrEqual(acknowledged + 8 * fall)
    }
    await life.close()
  })
})
