/** An event on its way to a thousand readers over HTTP: ms until the last of them has it. */
import { connect, type AddressInfo, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { fastify } from 'fastify'
import { alarmsRoutes } from '../../../src/services/alarms/routes.ts'
import { bodyOf, openService, TENANT } from './service.ts'
import { sampleOf, type AlarmsSample } from './subject.ts'

const READERS = 1000
const EVENTS = 50

export async function streamSample(folder: string): Promise<AlarmsSample> {
  const { service, storage } = await openService(folder)
  const app = fastify({ forceCloseConnections: true })
  app.decorateRequest('tenant', TENANT)
  app.decorateRequest('user', 'bench')
  await alarmsRoutes(app, { service })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  let got = 0
  let allGot: () => void = () => undefined
  const sockets: Socket[] = []
  for (let n = 0; n < READERS; n++) {
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /alarm/events HTTP/1.1\r\nHost: bench\r\n\r\n')
    socket.on('data', (data) => {
      if (data.includes('"eventtype"') && ++got === READERS) allGot()
    })
    sockets.push(socket)
  }
  while (service.gauges().eventStreams < READERS) await new Promise((resolve) => setImmediate(resolve))
  const api = service.as({ tenant: TENANT, user: 'bench' })
  const times: number[] = []
  const start = performance.now()
  for (let n = 0; n < EVENTS; n++) {
    got = 0
    const everybody = new Promise<void>((resolve) => (allGot = resolve))
    const before = performance.now()
    await api.raise(bodyOf('boiler-1'), { history: 'newest' })
    await everybody
    times.push(performance.now() - before)
  }
  const sample = sampleOf(times, performance.now() - start)
  for (const socket of sockets) socket.destroy()
  await app.close()
  await service.stop()
  await storage.close()
  return sample
}
