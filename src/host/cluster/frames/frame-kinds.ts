/** What frames say. Numbers never get another meaning: hosts of different versions talk to each other. */

/** The name of the protocol, as the `Upgrade` of HTTP has it. */
export const PROTOCOL = 'reflexarc-frames-1'
export const FRAMES_PATH = '/cluster/frames'
export const NONCE_HEADER = 'reflexarc-nonce'

/** From who hands on. */
export const ASK = 1
/** Nobody waits for the answer any more. */
export const DROP = 2
/** So many bytes of pieces were read; the head tells how many. */
export const MORE = 3

/** From the owner: a whole answer. */
export const ANSWER = 16
/** The head of an answer that comes in pieces. */
export const BEGIN = 17
export const PIECE = 18
/** All pieces were there. */
export const END = 19
/** There is no answer, or no more of it. */
export const BROKEN = 20
/** Nothing was done for it: the owner stops. */
export const UNTAKEN = 21
/** The owner stops: nothing more is to be asked. About no request. */
export const LEAVING = 22

/** bytes of an answer, or of the body of a request, in one frame */
export const MAX_BODY = 65_536
/** bytes of a head */
export const MAX_HEAD = 131_072
/** requests of one connection that wait for their answers */
export const MAX_OPEN = 2_048
/** bytes of pieces of one answer that nobody has read */
export const WINDOW = 131_072

/** method, address, headers, and what the mark of a hop has: count, term, slot, IP of the client */
export type AskHead = readonly [
  string,
  string,
  Readonly<Record<string, string | readonly string[]>>,
  number,
  number,
  number,
  string,
]
/** status and headers */
export type AnswerHead = readonly [number, Readonly<Record<string, HeaderValue>>]

export type HeaderValue = string | number | readonly string[]
