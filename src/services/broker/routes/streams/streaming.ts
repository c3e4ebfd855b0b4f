/** What all streams of one host share. */
import { Frames } from './frames.ts'
import { OpenStreams } from './open-streams.ts'

export interface Streaming {
  readonly frames: Frames
  readonly open: OpenStreams
  /** bytes of one frame that comes in */
  readonly frameBytes: number
}

/** `life`: tells the numbers of this process from those of others. */
export function streamingOf(life: string, frameBytes: number): Streaming {
  return { frames: new Frames(life), open: new OpenStreams(), frameBytes }
}
