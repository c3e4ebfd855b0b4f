/** What all streams of one host share. */
import { Frames } from './frames.ts'
import { OpenStreams } from './open-streams.ts'

export interface Streaming {
  readonly frames: Frames
  readonly open: OpenStreams
  /** bytes of one frame that comes in */
  readonly frameBytes: number
}

/** `life`: tells the numbers of this process from those of others; `store`: the places in its logs from those of other stores. */
export function streamingOf(life: string, frameBytes: number, store?: string): Streaming {
  return { frames: new Frames(life, store), open: new OpenStreams(), frameBytes }
}
