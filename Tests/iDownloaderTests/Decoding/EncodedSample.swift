// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import iDownState

/// One text as each coding has it, made by zlib 1.2.13, brotli 1.0.9 and zstd 1.5.4.
struct EncodedSample: Sendable {
    /// The value of Content-Encoding.
    let field: String
    let bytes: [UInt8]

    var codings: [ContentCoding] { ContentCoding.list(field) ?? [] }

    private init(_ field: String, _ base64: String) {
        self.field = field
        bytes = Data(base64Encoded: base64).map(Array.init) ?? []
    }

    /// What all of them decode to: 65,360 bytes.
    static let text = Array(
        (0..<3000).map { "\($0 % 47) bottles of \($0 % 3) kinds\n" }.joined().utf8
    )

    static let all = [gzip, wrapped, bare, brotli, zstd, twice]

    static let gzip = EncodedSample(
        "gzip",
        """
        H4sIAAAAAAACA+3WO25bMRRF0T6j0BBEXurj6QSJgSBBXNjzRxoXLnadarUP4JEgbfCt6+X728fHn5/vl7fXy/Xy\
        +9ffH+/f1teH6/Ph/vpwfz6cOn7q+K2O3+v4o44/6/hLfvlrnV+rBtbOhcmFkwu3XLjnwiMXnrnwkv/BtRb2qoW9\
        c2Fy4eTCLRfuufDIhWcuvGRK11qYbHE6xqxxMsfJHieDnCxyMsnJJk82ebLJk02ebPJkkyebPNlkBtU95Y+Qn1/H\
        s6VMKUvKkLKjlR2t7GhlRys7WtnRyo5WdrSyo5UdrexoZ0c7O9rZ0c6Odna0s6OdHe2823bebTvvtskUJ1ucjjFr\
        nMxxssfJICeLnExyssmTTZ5s8mSTp9+02eTJJk822S/L/C/zR8jPr+PZUqaUJWVI2dHqKy07WtnRyo5WdrSyo5Ud\
        rexoZUcrO9rZ0W6vZUc7O9rZ0c6Odna0827bebftvNsmU5xscTrGrHEyx8keJ4OcLHIyyckmTzZ5ssmTTZ5+02aT\
        J5s82eSV//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf\
        //mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf\
        //mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf\
        //mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf\
        //mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf\
        //mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//mf//+r//8BMzhrcVD/AAA=
        """
    )

    static let wrapped = EncodedSample(
        "deflate",
        """
        eNrt1jtuWzEURdE+o9AQRF7q4+kEiYEgQVzY80caFy52nWq1D+CRIG3wrevl+9vHx5+f75e318v18vvX3x/v39bX\
        h+vz4f76cH8+nDp+6vitjt/r+KOOP+v4S375a51fqwbWzoXJhZMLt1y458IjF5658JL/wbUW9qqFvXNhcuHkwi0X\
        7rnwyIVnLrxkStdamGxxOsascTLHyR4ng5wscjLJySZPNnmyyZNNnmzyZJMnmzzZZAbVPeWPkJ9fx7OlTClLypCy\
        o5UdrexoZUcrO1rZ0cqOVna0sqOVHa3saGdHOzva2dHOjnZ2tLOjnR3tvNt23m0777bJFCdbnI4xa5zMcbLHySAn\
        i5xMcrLJk02ebPJkk6fftNnkySZPNtkvy/wv80fIz6/j2VKmlCVlSNnR6istO1rZ0cqOVna0sqOVHa3saGVHKzva\
        2dFur2VHOzva2dHOjnZ2tPNu23m37bzbJlOcbHE6xqxxMsfJHieDnCxyMsnJJk82ebLJk02eftNmkyebPNnklf/5\
        n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5\
        n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5\
        n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5\
        n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5\
        n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5n//5\
        n//5n//5n//5n//5n//5n//5n//5n//5n//5n///q///AS5EIyI=
        """
    )

    static let bare = EncodedSample(
        "deflate",
        """
        7dY7blsxFEXRPqPQEERe6uPpBImBIEFc2PNHGhcudp1qtQ/gkSBt8K3r5fvbx8efn++Xt9fL9fL7198f79/W14fr\
        8+H++nB/Ppw6fur4rY7f6/ijjj/r+Et++WudX6sG1s6FyYWTC7dcuOfCIxeeufCS/8G1Fvaqhb1zYXLh5MItF+65\
        8MiFZy68ZErXWphscTrGrHEyx8keJ4OcLHIyyckmTzZ5ssmTTZ5s8mSTJ5s82WQG1T3lj5CfX8ezpUwpS8qQsqOV\
        Ha3saGVHKzta2dHKjlZ2tLKjlR2t7GhnRzs72tnRzo52drSzo50d7bzbdt5tO++2yRQnW5yOMWuczHGyx8kgJ4uc\
        THKyyZNNnmzyZJOn37TZ5MkmTzbZL8v8L/NHyM+v49lSppQlZUjZ0eorLTta2dHKjlZ2tLKjlR2t7GhlRys72tnR\
        bq9lRzs72tnRzo52drTzbtt5t+282yZTnGxxOsascTLHyR4ng5wscjLJySZPNnmyyZNNnn7TZpMnmzzZ5JX/+Z//\
        +Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//\
        +Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//\
        +Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//\
        +Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//\
        +Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//\
        +Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z//+Z///6v//wE=
        """
    )

    static let brotli = EncodedSample(
        "br",
        """
        G0//SBwJtg2bdYt60E0kDDbgUCuFdR0ckgbYXgcccp7QmduyrAiLk4DCkFkMIBYPS0V9YHlwwskSyZI8OvwH5f/N\
        +OAp+UwwsZhKoRwrqSbUxrp0f8HZegX0DkYs2/F4ffzJnsQmLdvxeH38qZ7CFi3b8Xh9/OmexjYt2+GczQlOQtEM\
        h8vrf16Asc5YZ6wz1hnrjHXGOmOdsc5YZ6wz1hHKCGWEMmKdsc5YZ6wz1hnrjHXGOmOdsc5YZ6wzNv0V1gEuAA==
        """
    )

    static let zstd = EncodedSample(
        "zstd",
        """
        KLUv/WRQ/g0HAEZRJhOwqQO8RiFGYMhu7y1lSknqJXMxJAAfAB4AvVpft2WriYiHR+NplmQxoXN215SGgCIghWHK\
        EIlRhmNZksBUiYiHR+NplmQxoXN2l3W3/37P15ORj8/m267pcirqCSSLCZ2zu6y7/fd7vp6MfHw233ZNl1NRT6/W\
        123Zanf77/d8PRn5+Gy+7Zoup6KeXq2v27LVRMTDo/E0G4CPqCE0fv8zsFeKNQMSmEHAQfD5+/9/B03zAY45GfFC\
        NqAsmQprIwqZjKzYxpiVqbBsRBGTkRVL7HCcChRKk/k6JTBPqhyMC9U=
        """
    )

    static let twice = EncodedSample(
        "gzip, br",
        """
        GwcDAGYADgAAtTcOdLwGGUSHSbYHnGiYfeRBfNKhdaghoil+OW/40RAAeQsQ8O0at502I4roIl/xAoKI3tXxJUhk\
        IIGgzsazOBY6nVuuVSv8QSKB7UPt9en39vh4fv59evv69OvT9/o+/v3+2nr49fPh35eDP18Ol9/VR23c/vVHcRz/\
        9Ye036d1rn412Npc6GRoMnS7Tsf5EDF6XudD0v9gK9pbVWivs6HT4ckQLfpd58NEqDldj4nUulaGjSPXWI0j0/gk\
        HnlwDo0T0+QkmTybZ9NksmyezZNJMnk2z6YJ2CrvaXxCvv54c6kMpfRUQlNxKm7tjYWpODW31ubiVJyaW8uZzcW5\
        ubdwLs5t3lyci3vbs+22Z8t93zaJQq6dE8donTPj2DQ+SUAenSPjBIry/ZbNE/b2Jv30D/2z+MR8/fGmUlkKqanE\
        5uIVNW21ompXb4r0Z7ttz3Z3yZRz/iK/ZbMDOUn9/8wf+K/OgMwc1o4K/wAA
        """
    )
}
