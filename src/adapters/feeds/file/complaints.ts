/** Tells the first few faults one by one and the rest as a number: a broken file must not drown the log. */
export interface Complaints {
  add(line: number, fault: string): void
  /** What was not told one by one. */
  end(): void
}

export const createComplaints = (tell: (message: string) => void, path: string): Complaints => {
  let count = 0
  return {
    add: (line, fault) => {
      count += 1
      if (count <= TOLD_MAX) tell(`${path} line ${line}: ${fault}`)
    },
    end: () => {
      if (count > TOLD_MAX) tell(`${path}: ${count - TOLD_MAX} more faults like these`)
    },
  }
}

const TOLD_MAX = 10
