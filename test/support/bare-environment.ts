/** The environment of a program that is to see nothing of ours: where programs are, and what Node has compiled before. */
const { PATH = '', NODE_COMPILE_CACHE } = process.env

export const bareEnvironment: Readonly<Record<string, string>> = {
  PATH,
  ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
}
