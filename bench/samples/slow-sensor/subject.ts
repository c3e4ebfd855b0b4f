/** What is asked for, and what comes back. */
export interface SlowSensorRequest {
  /** `library`: an engine in this process; `host`: a whole host on SQLite, posted to by HTTP without a socket */
  readonly place: 'library' | 'host'
  /** whether the sensor's plug declares that it reads the message alone, so that calls may begin ahead of their turn */
  readonly isAhead: boolean
}

export interface SlowSensorSample {
  /** messages per second, from the first post until the last was evaluated */
  readonly perSecond: number
  /** calls per second of the plug alone, one after the other, in the same process right before and after */
  readonly limit: number
  /** messages that were never evaluated; there is no sample with any */
  readonly lost: number
  /** messages that waited when the last was posted, and ms until they were evaluated */
  readonly waiting: number
  readonly waitedMs: number
  /** CPU time of the main thread, ms */
  readonly cpuMs: number
  /** share of the time in which the main thread had work and no core */
  readonly noCore: number
}

export const MESSAGES = 10_000

/** Posts the message with that number; a promise resolves when it was taken. */
export type Post = (n: number) => void | Promise<void>
